# helpers of the lab
