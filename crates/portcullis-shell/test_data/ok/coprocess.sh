coproc a b; coproc N { c; }
