/**
 * What the shell runs. Calls come over a pipe of their own (`$1`), ended by a NUL, so that the terminal is left to the
 * programs: nothing is echoed, no line is too long, and what a program asks is not answered by the next command.
 * The first line of a call is its tag; two invisible marks with it bracket the output. A shell that exits leaves a third
 * one and waits a moment to be told that it was read: what is in a terminal is lost when its session ends.
 */
export const driver = `__dsh_pipe=$1; exec 9<"$1"; shift
trap 'printf "\\033]133;X;%s;%s\\007" "\${__dsh_call%%$'"'\\n'"'*}" "$?"; read -r -d "" -t 2 _ < "$__dsh_pipe"' EXIT
trap : INT; shopt -s expand_aliases; stty -echo -onlcr 2>/dev/null
while IFS= read -r -d '' -u 9 __dsh_call; do
  printf '\\033]133;C;%s\\007' "\${__dsh_call%%$'\\n'*}"
  eval "\${__dsh_call#*$'\\n'}" 9<&-
  printf '\\033]133;D;%s;%s\\007' "\${__dsh_call%%$'\\n'*}" "$?"
done`

/** One call as the driver reads it. A NUL cannot be part of a command. */
export function callRecord(tag: string, command: string): string {
  return `${tag}\n${command.replaceAll('\0', '')}\0`
}
