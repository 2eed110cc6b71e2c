import { Badge, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import classes from './method-tag.module.css'
import { scopeLabels } from './scope-labels.ts'
import scrollTextClasses from './scroll-text.module.css'

/** `GET`, in a colour of its own and always as wide. */
export function MethodTag({ method }: { readonly method: string }) {
  return (
    <span className={classes.tag} data-method={method}>
      {method}
    </span>
  )
}

/** An address that is cut into lines behind its slashes, and within a part only where that is longer than a line. */
export function PathText({ children }: { readonly children: string }) {
  const parts = children.split('/')
  return (
    <Text fz={13} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {parts.map((part, at) => (
        <Fragment key={parts.slice(0, at + 1).join('/')}>
          {part}
          {at === parts.length - 1 ? null : '/'}
          <wbr />
        </Fragment>
      ))}
    </Text>
  )
}

/** A scope in words; its name, which is what is typed, on hover. */
export function ScopeBadge({ scope }: { readonly scope: string }) {
  return (
    <Badge color="petrol" tt="none" title={scope}>
      {scopeLabels(scope)}
    </Badge>
  )
}

/** Text as it is, in a box that scrolls. */
export function ScrollText({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={scrollTextClasses.text} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
