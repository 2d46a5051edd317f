// In the demo, a press on an account fills the form with it.
"use strict";
for (const row of document.querySelectorAll("[data-demo-account]")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "button small", textContent: "Use" });
  button.setAttribute("aria-label", `Use ${row.dataset.demoAccount}`);
  button.addEventListener("click", () => {
    document.getElementById("id_username").value = row.dataset.demoAccount;
    document.getElementById("id_password").value = row.parentElement.dataset.demoPassword;
    document.querySelector("main form [type=submit]").focus();
  });
  row.append(button);
}
