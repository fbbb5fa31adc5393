// A `type` is cast to and from what it stands for.
type bit<9> port_t;
type port_t uplink_t;

control c(inout port_t port, inout bit<16> wide, inout bit<9> narrow) {
    apply {
        narrow = (bit<9>)port;
        port = (port_t)narrow;
        port = (port_t)5;
        wide = (bit<16>)(bit<9>)port;
        wide = (bit<16>)port;  //~ ERROR cannot cast `port_t` to `bit<16>`
        port = (port_t)wide;   //~ ERROR cannot cast `bit<16>` to `port_t`
        uplink_t up = (uplink_t)port;
        narrow = (bit<9>)up;
    }
}

