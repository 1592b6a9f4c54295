#!/usr/bin/env bash
# Makes the folders of test vectors ready and prints the assignments that name them, for eval.
# With CI=true a missing folder is a failure; otherwise it is said and the tests skip.
set -euo pipefail
cd "$(dirname "$0")/.."

version=50.0.2
sha256=51641f03a3eb4edbe9fb68e3a3574d25f86aa502d06391fffa886330d02778a0
failed=0

missing() {
  echo "vectors: $*" >&2
  [[ ${CI:-} == true ]] && failed=1
  return 0
}

# Wycheproof: the files of testvectors_v1 in https://github.com/C2SP/wycheproof.
wycheproof() {
  local folder=${SPS_WYCHEPROOF_VECTORS:-../shared/vectors}
  if [[ -f $folder/aes_gcm_test.json ]]; then
    printf 'export SPS_WYCHEPROOF_VECTORS=%q\n' "$(realpath "$folder")"
  else
    missing "no Wycheproof vectors in $folder;" \
      "set SPS_WYCHEPROOF_VECTORS to the folder that holds aes_gcm_test.json"
  fi
}

pip() {
  if python3 -m pip --version >/dev/null 2>&1; then
    python3 -m pip "$@"
  else
    [[ -x .build/vectors/venv/bin/pip ]] || python3 -m venv .build/vectors/venv
    .build/vectors/venv/bin/pip "$@"
  fi
}

download() {
  local into=$1
  printf 'cryptography-vectors==%s --hash=sha256:%s\n' "$version" "$sha256" >"$into/requirements.txt"
  local try
  for try in 1 2 3; do
    pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --require-hashes --requirement "$into/requirements.txt" --dest "$into" >&2 && break
    ((try < 3)) || return 1
    sleep 5
  done
  python3 -m zipfile -e "$into/cryptography_vectors-$version-py3-none-any.whl" "$into/unpacked"
}

# NIST CAVP, RFC and scrypt: what pyca/cryptography collected, published as a wheel.
cryptography() {
  local folder=.build/vectors/$version work
  if [[ ! -d $folder ]]; then
    mkdir -p .build/vectors
    work=$(mktemp -d .build/vectors/download.XXXXXX)
    # Renamed when whole, so that an interrupted run leaves no half of a folder.
    if download "$work"; then mv "$work/unpacked" "$folder"; fi
    rm -rf "$work"
  fi
  if [[ -d $folder/cryptography_vectors ]]; then
    printf 'export SPS_CRYPTOGRAPHY_VECTORS=%q\n' "$(realpath "$folder/cryptography_vectors")"
  else
    missing "could not download cryptography-vectors $version with pip; its tests will skip"
  fi
}

wycheproof
cryptography
exit "$failed"
