/** Light or dark, as the visitor wants it: kept in a cookie, so that the server draws the next page so from the start. */

export function followTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const isDark = () =>
    (document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark'
  const label = () => {
    for (const button of document.querySelectorAll('[data-theme-switch]'))
      if (button instanceof HTMLElement)
        button.ariaLabel = button.title = (isDark() ? button.dataset.light : button.dataset.dark) ?? ''
  }
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element) || !event.target.closest('[data-theme-switch]')) return
    const theme = isDark() ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet.
    document.cookie = `quoin_theme=${theme}; path=/; max-age=31536000; samesite=lax`
    label()
  })
  dark.addEventListener('change', label)
  document.addEventListener('quoin:page', label)
  label()
}
