#!/bin/sh
# From nothing to a model that runs elsewhere. Run it in an empty folder: sh CHECKOUT/examples/newcomer.sh [WHERE OC1 IS]
set -eu
python3 -m venv .venv
.venv/bin/pip install -q "${1:-$(dirname "$0")/..}[cli,onnx]"  # a checkout, a wheel, or a name
PATH="$PWD/.venv/bin:$PATH"

oc1 generate rcb -o rcb.csv                                             # 2000 points, eight classes, oblique borders
oc1 cv rcb.csv --learner oc1 --learner axis --learner c45               # which learner?
oc1 train rcb.csv -o rcb.json                                           # a tree, and what it is worth
oc1 show rcb.json
oc1 generate rcb -n 1000 --seed 1 -o more.csv
oc1 test rcb.json more.csv                                              # on points it has not seen
oc1 classify rcb.json more.csv -o classes.csv                           # labels and probabilities
oc1 explain rcb.json more.csv --row 3                                   # why, and what would change the answer
oc1 convert rcb.json --to onnx -o rcb.onnx
oc1 convert rcb.json --to c --numbers fixed --data rcb.csv -o rcb.h     # for a microcontroller
oc1 convert rcb.json --to python -o rcb.py
oc1 convert rcb.json --to sql --table points -o rcb.sql
