# The functions of guards. The variables are upper case, because no form sets such ones. A file that is a link is excluded
# too. ROOT stands for the workspace.
find_place() {
  local path=$1 folder name=
  case $path in ''|*[$'\n\1']*) return 1;; /*) ;; *) path=$PWD/$path;; esac
  if [[ -d $path ]]; then folder=$path
  elif [[ -f $path && ! -L $path ]]; then folder=${path%/*} name=${path##*/}
  else return 1; fi
  if [[ $folder != "$LAST_FOLDER" ]]; then
    LAST_FOLDER=$folder LAST_PLACE=$(cd -P -- "$folder/" 2>/dev/null && pwd -P && echo x) || LAST_PLACE=
    LAST_PLACE=${LAST_PLACE%$'\nx'}
  fi
  [[ $LAST_PLACE/ == ROOT/* ]] && PLACE=${LAST_PLACE#ROOT}/$name
}
has_place() { find_place "$1" && ! grep -qaiE "$SECRET_NAMES" <<< "$PLACE"$'\1'; }
print_name() {
  if ! has_place "$1"; then printf '/dev/null/%s' 'left out: outside the workspace, gone, or a secret'; return; fi
  case $1 in [[:alnum:]_./]*) printf %s "$1";; *) printf './%s' "$1";; esac
}
print_revision() { git rev-parse --quiet --verify --end-of-options "$1^{commit}" || printf no-commit; }
keep_names() {
  local given
  while IFS= read -r -d '' given || [[ $given ]]; do
    find_place "$given" || continue
    case $given in [[:alnum:]_./]*) ;; *) given=./$given;; esac
    printf '%s\1%s\0' "$PLACE" "$given"
  done | grep -zvaiE "$SECRET_NAMES" | sed -z $'s/^[^\1]*\1//'
}
hand_on_names() {
  local parted=$1; shift
  case $parted in words) tr ' \t\n' '\0\0\0';; lines) tr '\n' '\0';; ends) cat;; *) xargs printf '%s\0';; esac |
    keep_names | xargs -0 "$@"
}
