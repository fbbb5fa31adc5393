"""P4Runtime's messages under the names of generated code, `p4.v1.p4runtime_pb2` and so on; finsy has them."""
