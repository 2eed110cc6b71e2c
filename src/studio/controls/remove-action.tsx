import { ActionIcon } from '@mantine/core'
import { Icon } from './icon.tsx'

/** The bin at the end of a row. The label says what it takes away. */
export function RemoveAction({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick}>
      <Icon name="trash" size={16} />
    </ActionIcon>
  )
}
