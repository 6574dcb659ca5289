#!/bin/sh
cat job.cfg
