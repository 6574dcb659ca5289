#!/bin/bash
seq "$1"
