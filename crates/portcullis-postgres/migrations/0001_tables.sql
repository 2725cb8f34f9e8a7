-- What many daemons share. Texts are compared byte by byte, whatever the locale of the database is.

-- Small documents that are replaced as a whole: sessions, their facts, grants.
CREATE TABLE documents (
    key text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- The end of the audit trail, and where it begins since the oldest records were removed. Whoever appends locks the row,
-- so the lines of all daemons form one chain, and a number is never seen before a smaller one.
CREATE TABLE audit_head (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    number bigint NOT NULL,
    hash text NOT NULL,
    at_ms bigint NOT NULL,
    anchor_number bigint NOT NULL,
    anchor_hash text NOT NULL,
    pruned_at timestamptz
);
INSERT INTO audit_head (number, hash, at_ms, anchor_number, anchor_hash)
VALUES (0, repeat('0', 64), 0, 0, repeat('0', 64));

-- The audit trail: the line is the truth, the other columns are what it is found by. A partition is a month; what belongs
-- to none of them goes to the last one.
CREATE TABLE audit (
    number bigint NOT NULL,
    at_ms bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    call bigint NOT NULL,
    is_repeat boolean NOT NULL,
    micros bigint NOT NULL,
    model_calls bigint NOT NULL,
    model_unpriced bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_cached bigint NOT NULL,
    tokens_out bigint NOT NULL,
    cost_usd double precision NOT NULL,
    decision text COLLATE "C" NOT NULL,
    said text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    event text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    code text COLLATE "C",
    rule text COLLATE "C",
    suggestion text COLLATE "C",
    cwd text COLLATE "C" NOT NULL,
    summary text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    line bytea NOT NULL
) PARTITION BY RANGE (at_ms);
CREATE UNIQUE INDEX audit_by_number ON audit (number, at_ms);
CREATE INDEX audit_by_time ON audit (at_ms, number);
CREATE INDEX audit_by_id ON audit (id);
CREATE INDEX audit_by_session ON audit (session, at_ms);
CREATE INDEX audit_by_decision ON audit (decision, at_ms);
CREATE INDEX audit_by_call ON audit (call);
CREATE TABLE audit_other PARTITION OF audit DEFAULT;

-- Questions that wait for a person. The number of the last change is taken while this row is locked, so whoever looks for
-- what changed after a number misses nothing.
CREATE TABLE approval_head (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    sequence bigint NOT NULL
);
INSERT INTO approval_head (sequence) VALUES (0);
CREATE TABLE approvals (
    id text COLLATE "C" PRIMARY KEY,
    sequence bigint NOT NULL UNIQUE,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    ended_at_ms bigint,
    session text COLLATE "C" NOT NULL,
    denial text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'allowed', 'denied', 'expired')),
    is_applied boolean NOT NULL DEFAULT false,
    body text NOT NULL,
    answer text
);
CREATE UNIQUE INDEX approvals_open ON approvals (session, denial) WHERE state = 'open';
CREATE INDEX approvals_by_state ON approvals (state, created_at_ms);
CREATE INDEX approvals_unapplied ON approvals (sequence) WHERE answer IS NOT NULL AND NOT is_applied;

-- Policies that were published, signed.
CREATE TABLE policies (
    version bigint PRIMARY KEY,
    body text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now()
);
