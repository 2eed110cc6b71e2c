import { CopyButton } from '@mantine/core'
import { useMemo } from 'react'
import { CopyAction } from '../actions.tsx'
import classes from '../scroll-text.module.css'
import { ScrollText } from '../tags.tsx'
import { jsonTokens } from './json-text.ts'

/** Above this colours would cost more time than they help. */
const MOST_COLOURED = 100_000

/** A value to read, in colours, with a button that copies it. */
export function JsonView({ value, label = 'JSON' }: { readonly value: unknown; readonly label?: string }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'undefined', [value])
  const tokens = useMemo(() => (text.length > MOST_COLOURED ? undefined : jsonTokens(text)), [text])
  return (
    <div className={classes.frame}>
      <ScrollText label={label}>
        {tokens === undefined
          ? text
          : tokens.map(({ kind, text: part }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in their order
              <span key={i} className={classes[kind]}>
                {part}
              </span>
            ))}
      </ScrollText>
      <div className={classes.copy}>
        <CopyButton value={text}>{(state) => <CopyAction {...state} />}</CopyButton>
      </div>
    </div>
  )
}
