while a; do b; done; until c; do d; done
for x in 1 $(e); do f; done
for y; do g; done
for ((i = 0; i < $(h); i++)); do i; done
select z in a b; do j; done
