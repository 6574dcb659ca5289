#!/bin/sh
echo fitted
