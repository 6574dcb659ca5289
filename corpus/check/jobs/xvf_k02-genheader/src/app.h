#pragma once
#define APP_NAME "app"
