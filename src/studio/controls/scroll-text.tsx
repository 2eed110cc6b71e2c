import type { ReactNode } from 'react'
import classes from './scroll-text.module.css'

/** Text as it is, in a box that scrolls. */
export function ScrollText({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={classes.text} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
