"""Clients of BMv2's Thrift services under the names of generated code; they need the package `thrift`."""

from drop_in_elsewhere import prefer_package

prefer_package(__path__, "bm_runtime/standard/Standard.py")
