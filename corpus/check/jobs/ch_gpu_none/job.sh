#!/bin/sh
nvidia-smi
