// What an extern gives back has a fixed width.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    varbit<8> v;
    meter(4, MeterType.bytes) rates;
    apply {
        if (hdr.data.a == 1) {
            hash(v, HashAlgorithm.crc16, 16w0, { hdr.data.a }, 16w9); //~ ERROR a varbit cannot be an argument
        } else if (hdr.data.a == 2) {
            rates.execute_meter(0, v); //~ ERROR a varbit cannot be an argument
        }
    }
}

#include "../run/include/pipe.p4"
