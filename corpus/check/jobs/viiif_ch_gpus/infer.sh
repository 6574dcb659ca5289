#!/bin/bash
nvidia-smi -L
