const KEY = 'quoin.clipboard'

/**
 * Copies the text for other programs too where the browser lets us, and keeps it for this browser in any case: reading the
 * clipboard asks the user for leave each time, and without https there is none at all.
 */
export async function writeClipboard(text: string): Promise<void> {
  try {
    localStorage.setItem(KEY, text)
    await navigator.clipboard?.writeText(text)
  } catch {
    // Without leave the blocks are still in this browser's own clipboard.
  }
}

export async function readClipboard(): Promise<string> {
  const own = localStorage.getItem(KEY) ?? ''
  try {
    const { state } = await navigator.permissions.query({ name: 'clipboard-read' as PermissionName })
    if (state !== 'granted') return own
    const text = await navigator.clipboard.readText()
    return text.includes('quoin/blocks') ? text : own
  } catch {
    return own
  }
}
