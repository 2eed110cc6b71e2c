import { ActionIcon } from '@mantine/core'
import { controlsTexts } from '../texts/shell.ts'
import { Icon } from './icon.tsx'

/** The button of a `CopyButton`. */
export function CopyAction({ copied, copy }: { readonly copied: boolean; readonly copy: () => void }) {
  const label = copied ? controlsTexts.copied : controlsTexts.copy
  return (
    <ActionIcon
      variant="subtle"
      color={copied ? 'petrol' : 'gray'}
      onClick={copy}
      aria-label={label}
      title={label}
    >
      <Icon name={copied ? 'check' : 'copy'} size={15} />
    </ActionIcon>
  )
}

/** The bin at the end of a row. The label says what it takes away. */
export function RemoveAction({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick}>
      <Icon name="trash" size={16} />
    </ActionIcon>
  )
}
