/**
 * Makes a page live: every page works without this module, the module only avoids reloads.
 * Each part looks for its own attributes, so that what comes in later (a new table) is found too.
 */
import { followEvents } from './events.js'
import { followForms } from './forms.js'
import { followModals } from './modals.js'
import { followHistory, onArrival } from './swap.js'
import { followTables } from './tables.js'
import { upgradeTabs } from './tabs.js'
import { followTheme } from './theme.js'

document.documentElement.classList.add('live')
followTheme()
followTables()
onArrival(upgradeTabs)
followModals()
// After what opens tabs and dialogs: a summary takes the focus.
followForms()
followHistory()
onArrival((part) => {
  if (!part.querySelector('form[data-proof]')) return
  void import('./proof.js').then(({ solveProofs }) => solveProofs(part))
})
onArrival((part) => {
  if (!part.querySelector('#form-passkey')) return
  void import('./passkeys.js').then(({ offerPasskeys }) => offerPasskeys(part))
})
followEvents()
