#!/bin/sh
echo sampling
