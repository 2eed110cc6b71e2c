import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ErrorNotice } from '../../controls/states.tsx'
import { barTexts } from '../../texts/bar.ts'
import { explain } from '../api/editor-api.ts'
import { endpointsOf } from '../model/endpoints.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

/** Why an address answers, or is 404: outside all reasons look the same. */
export function ExplainDialog() {
  const editor = useEditor()
  const opened = useEditorState(({ dialog }) => dialog?.kind === 'explain')
  const close = () => editor.set({ dialog: undefined })
  return (
    <Modal opened={opened} onClose={close} title={<Text fw={650}>{barTexts.why404}</Text>} size="md">
      {opened ? <Content onClose={close} /> : null}
    </Modal>
  )
}

interface ReasonProps {
  readonly found: Awaited<ReturnType<typeof explain>>
  readonly onClose: () => void
}

/** Why, and the block that decides it. */
function Reason({ found, onClose }: ReasonProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  return (
    <Alert color={found.reachable ? 'petrol' : 'sand'} title={found.reachable ? barTexts.reachable : '404'}>
      <Text size="sm">{found.reason}</Text>
      {found.block && flow.has(found.block) ? (
        <Button
          mt="xs"
          size="compact-xs"
          variant="default"
          onClick={() => {
            onClose()
            editor.focusPin(found.block ?? '', '')
          }}
        >
          {barTexts.showTheBlock}
        </Button>
      ) : null}
    </Alert>
  )
}

function Content({ onClose }: { readonly onClose: () => void }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const first = useMemo(() => endpointsOf(flow)[0], [flow])
  const [method, setMethod] = useState(first?.method ?? 'GET')
  const [path, setPath] = useState(first?.uri ?? '')
  const asking = useMutation({ mutationFn: () => explain(method, path.replace(/[{}]/g, '')) })
  const found = asking.data
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        asking.mutate()
      }}
    >
      <Stack gap="md">
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <Select
            w={110}
            label={barTexts.method}
            data={['GET', 'POST', 'PUT', 'PATCH', 'DELETE']}
            value={method}
            allowDeselect={false}
            onChange={(next) => setMethod(next ?? 'GET')}
          />
          <TextInput
            flex={1}
            label={barTexts.path}
            placeholder={barTexts.tasks123}
            leftSection="/"
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
            data-autofocus
          />
          <Button type="submit" loading={asking.isPending}>
            {barTexts.ask}
          </Button>
        </Group>
        <ErrorNotice error={asking.error} />
        {found ? <Reason found={found} onClose={onClose} /> : null}
      </Stack>
    </form>
  )
}
