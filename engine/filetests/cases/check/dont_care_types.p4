// What a register's cells hold must be known where it is used.
#include "../run/include/v1.p4"

control Use(inout bit<8> x)(register<_> cells) {
    apply {
        cells.read(x, 0); //~ ERROR the cell type of `register<_>` is unknown here
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<_>(4) unknown; //~ ERROR the type arguments of `register` are missing
    register<bit<8>>(4) known;
    Use(known) use;
    apply {
        use.apply(hdr.data.a);
    }
}

#include "../run/include/pipe.p4"
