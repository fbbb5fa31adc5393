# Web search with a longer tail (docs/algorithms/traffic.md#skewed, class "large"): bytes, percent of flows up to that size. Mean 1,861,250 B.
0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 99.5
70000000 100
