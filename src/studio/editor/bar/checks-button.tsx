import { Button, Tooltip } from '@mantine/core'
import { Icon } from '../../controls/icon.tsx'
import { barTexts } from '../../texts/bar.ts'
import { foundWords } from '../model/words/found-words.ts'
import { useChecks, useEditor } from '../state/editor-context.ts'

/** That something was found which keeps the blueprint from running, or is probably a mistake; leads to the list of it. */
export function ChecksButton() {
  const editor = useEditor()
  const { problems, needed, notes } = useChecks()
  const found = problems.length + notes.length + needed.length
  if (found === 0) return null
  const words = foundWords(problems.length, notes.length, needed.length)
  return (
    <Tooltip label={barTexts.problemsButton(words)}>
      <Button
        size="xs"
        variant="light"
        color={problems.length > 0 ? 'red' : notes.length > 0 ? 'yellow' : 'gray'}
        px={8}
        leftSection={<Icon name={problems.length + notes.length > 0 ? 'warning' : 'info'} size={14} />}
        // The name has the number that is seen: there may be problems, warnings and empty fields.
        aria-label={`${found}: ${barTexts.problemsButton(words)}`}
        onClick={() => {
          editor.select([])
          editor.set({ panel: 'properties' })
        }}
      >
        {found}
      </Button>
    </Tooltip>
  )
}
