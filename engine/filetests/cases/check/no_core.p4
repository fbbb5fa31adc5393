// Without core.p4 there is no error and no match kind.
struct meta_t {
    error e; //~ ERROR declares no `error`
}
extern void note(in match_kind kind); //~ ERROR declares no `match_kind`
