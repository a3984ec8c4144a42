// For --import: the time of day runs backwards, as if somebody set it back again and again.
const start = Date.now()
const real = Date.now
Date.now = () => start - (real() - start)
