"""P4Runtime's messages under the names of generated code, `p4.v1.p4runtime_pb2` and so on; finsy has them."""

from drop_in_elsewhere import prefer_package

prefer_package(__path__, "p4/v1/p4runtime_pb2.py")
