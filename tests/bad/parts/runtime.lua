local settings_of = nil
return {burst = settings_of.burst}
