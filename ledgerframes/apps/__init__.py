"""Small programs that stand on everything else: the doctor, the HTML report and the demonstration."""
