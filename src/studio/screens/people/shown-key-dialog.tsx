import { Alert, Button, Code, CopyButton, Group, Modal, Stack } from '@mantine/core'
import type { ShownApiKey } from '../../../shared/api/people/api-keys.ts'
import { CopyAction } from '../../controls/copy-action.tsx'
import { peopleTexts } from '../../texts/people.ts'

interface ShownKeyDialogProps {
  readonly shown: ShownApiKey | undefined
  readonly onClose: () => void
}

/** The secret of a key, once. It closes with its button only: a click beside it must not lose the key. */
export function ShownKeyDialog({ shown, onClose }: ShownKeyDialogProps) {
  return (
    <Modal
      opened={shown !== undefined}
      onClose={onClose}
      title={peopleTexts.apiKey(shown?.name ?? '')}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Alert color="yellow" title={peopleTexts.shownOnce}>
          {peopleTexts.copyKeyNow}
        </Alert>
        <Group gap="xs" wrap="nowrap">
          <Code
            block
            flex={1}
            aria-label={peopleTexts.theKey}
            style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}
          >
            {shown?.key}
          </Code>
          <CopyButton value={shown?.key ?? ''}>{(copying) => <CopyAction {...copying} />}</CopyButton>
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>{peopleTexts.iHaveCopiedIt}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
