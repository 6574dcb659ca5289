#!/bin/sh
echo all
