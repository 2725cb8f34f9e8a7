f() { a; } >log
function g { b; }
function h() ( c )
