// Every declaration of a type.
error { BadThing, WorseThing }
match_kind { exact, nearest, }
struct Empty {}
struct Point<C> { @unit("px") C x; C y; }
struct Nested { Point<bit<8>> p; tuple<bit<8>, bool> pair; bit<8>[4] stack_before; bit<8> stack_behind[4]; }
header H { bit<8> a; int<8> b; bool c; varbit<(8 * 4)> d; }
header Generic<T> { T value; }
header_union U { H one; Generic<bit<8>> two; }
enum Plain { A, B }
enum bit<8> Coded { A = 1, B = 1 + 1, }
typedef bit<9> Port;
typedef H[3] Stack;
typedef struct Inline { bit a; } Alias;
type bit<32> Address;
@p4runtime_translation("", 32)
type Port PortId;
extern packet {}
parser P<H2>(packet p, out H2 hdr);
control C<M>(inout M meta, @optional in bit<8> x = 1);
package Top<H2, M>(P<H2> p, C<M> c);
extern forward_declared;
extern E<T> {
    E(T initial);
    E();
    @pure T read(in bit<32> index);
    void write<U>(in U value, in bit<32> index = 0);
    abstract void apply(inout T value);
}
extern void nothing();
extern T identity<T>(in T value);
extern list<bit<8>> lists(list<tuple<bit<8>, _>> x);
bit<8> own(in bit<8> x) { return x; }
T generic<T>(in T x) { return x; }
void unit(match_kind m, string s, int i) { return; }
