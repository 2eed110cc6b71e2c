import { Text } from '@mantine/core'
import { Fragment } from 'react'

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
