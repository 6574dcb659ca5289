#!/bin/bash
set -e
hostname
