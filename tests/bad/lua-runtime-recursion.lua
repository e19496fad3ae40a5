local function deep() return 1 + deep() end
deep()
