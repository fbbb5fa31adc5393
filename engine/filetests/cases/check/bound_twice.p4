// Arguments that an action is listed with are the same where they are repeated.
extern bit<4> high();
extern bit<4> low();
struct halves_t { bit<4> a; bit<4> b; }

control c(inout bit<8> x) {
    action join(in halves_t h) { x = h.a ++ h.b; }
    table t {
        actions = { join({ a = high(), b = low() }); }
        default_action = join({ b = high(), a = low() }); //~ ERROR the argument differs from the one in the list of actions
    }
    table same {
        actions = { join({ a = high(), b = low() }); }
        default_action = join({ a = high(), b = low() });
    }
    apply { t.apply(); same.apply(); }
}
