#!/usr/bin/env bash
# Runs one task of the action. Inputs arrive as variables, so no text of theirs becomes part of a script.
set -euo pipefail

answer=$RUNNER_TEMP/halocline-answer.md
files=$RUNNER_TEMP/halocline-files
log=$RUNNER_TEMP/halocline-build.log
batch=$RUNNER_TEMP/halocline-batch.json
code=0
options=(-p --time-limit "$HALO_TIME_LIMIT")
[ -z "$HALO_MODEL" ] || options+=(-m "$HALO_MODEL")
[ -z "$HALO_MAX_COST" ] || options+=(--max-cost "$HALO_MAX_COST")
[ -z "$HALO_ALLOWED_TOOLS" ] || options+=(--allowed-tools "$HALO_ALLOWED_TOOLS")
[ -z "$HALO_DISALLOWED_TOOLS" ] || options+=(--disallowed-tools "$HALO_DISALLOWED_TOOLS")
: >"$answer"
: >"$files"

refuse() {
    echo "::error::$1"
    exit 2
}

ask() { # the prompt, after options; standard input is data
    local prompt=${*: -1}
    halo "${options[@]}" "${@:1:$#-1}" -- "$prompt" | tee "$answer" || code=$?
    # Exit code 2 says that no task was started.
    [ "$code" = 2 ] || halo checkpoints diff --since-start --json | python3 "$GITHUB_ACTION_PATH/changed.py" >"$files"
}

builds() {
    bash -c "$HALO_COMMAND" >"$log" 2>&1
}

report() {
    cat "$answer" >>"$GITHUB_STEP_SUMMARY"
    {
        echo "answer-file=$answer"
        echo "exit-code=$code"
        echo "changed-files=$files"
        echo "report-file=$batch"
        echo "changed=$([ -s "$files" ] && echo true || echo false)"
    } >>"$GITHUB_OUTPUT"
}

case $HALO_TASK in
fix)
    [ -n "$HALO_COMMAND" ] || refuse "The task fix needs the input command."
    if builds; then
        echo "$HALO_COMMAND succeeds: there is nothing to fix." | tee "$answer"
        report
        exit
    fi
    ask --approval-mode "$HALO_APPROVAL_MODE" \
        "This command fails, and the end of its output follows: $HALO_COMMAND
Find the cause and fix it, without weakening tests. Then explain the cause and the fix in a few sentences. $HALO_PROMPT" \
        < <(tail -c 40000 "$log")
    report
    builds || {
        tail -n 50 "$log"
        refuse "$HALO_COMMAND still fails."
    }
    ;;
review)
    [ -n "$HALO_BASE" ] || refuse "The task review needs the input base."
    base=$(git merge-base -- "$HALO_BASE" HEAD) || refuse "There is no commit that $HALO_BASE and this one share; check out with fetch-depth: 0."
    ask --mode plan \
        "Review the changes from $base to HEAD; see them with: git diff $base HEAD
Name the bugs, security problems and missing tests that they bring in, each with file, line and a proposal. Say so if there are none. Answer in Markdown. $HALO_PROMPT" \
        < <(git diff --no-ext-diff --stat "$base" HEAD)
    report
    [ "$code" = 0 ] || refuse "The review failed with exit code $code."
    ;;
batch)
    [ -f "$HALO_BATCH_FILE" ] || refuse "The task batch needs the input batch-file, a file in the folder."
    options=(-j "$HALO_BATCH_JOBS" --time-limit "$HALO_TIME_LIMIT" --approval-mode "$HALO_APPROVAL_MODE")
    [ -z "$HALO_MODEL" ] || options+=(-m "$HALO_MODEL")
    [ -z "$HALO_MAX_COST" ] || options+=(--max-total-cost "$HALO_MAX_COST")
    [ -z "$HALO_ALLOWED_TOOLS" ] || options+=(--allowed-tools "$HALO_ALLOWED_TOOLS")
    [ -z "$HALO_DISALLOWED_TOOLS" ] || options+=(--disallowed-tools "$HALO_DISALLOWED_TOOLS")
    # A run that is started again has the same name, so what is done is not done twice.
    halo batch "${options[@]}" --name "github-$GITHUB_RUN_ID" --report "$batch" -- "$HALO_BATCH_FILE" |
        tee "$answer" || code=$?
    report
    [ "$code" = 0 ] || refuse "The batch ended with exit code $code."
    ;;
prompt)
    [ -n "$HALO_PROMPT" ] || refuse "The task prompt needs the input prompt."
    ask --approval-mode "$HALO_APPROVAL_MODE" "$HALO_PROMPT" </dev/null
    report
    [ "$code" = 0 ] || refuse "The agent ended with exit code $code."
    ;;
*)
    refuse "Unknown task; use fix, review, batch or prompt."
    ;;
esac
