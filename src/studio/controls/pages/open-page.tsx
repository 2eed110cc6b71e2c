import { Anchor } from '@mantine/core'
import { controlsTexts } from '../../texts/shell.ts'
import { Icon } from '../icon.tsx'
import { isOpenable } from './page-path.ts'

/** A link that opens a page in a tab of its own; nothing where the path has parameters. */
export function OpenPage({
  path,
  label = controlsTexts.open,
}: {
  readonly path: string
  readonly label?: string
}) {
  if (!isOpenable(path)) return null
  return (
    <Anchor
      href={path}
      target="_blank"
      rel="noopener"
      size="xs"
      aria-label={controlsTexts.openInTab(path)}
      style={{ display: 'inline-flex', alignItems: 'center', gap: 4, whiteSpace: 'nowrap' }}
    >
      {label}
      <Icon name="external" size={12} />
    </Anchor>
  )
}
