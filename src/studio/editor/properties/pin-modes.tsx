import { Button, Tooltip } from '@mantine/core'
import type { PinMode } from '../expressions/convert-pin.ts'

interface PinModesProps {
  readonly pin: string
  readonly mode: PinMode
  /** Whether text with values makes sense here. */
  readonly takesText: boolean
  readonly onChange: (mode: PinMode) => void
}

/** What a pin holds: a value, text with values or an expression. The pressed one leads back to a value. */
export function PinModes({ pin, mode, takesText, onChange }: PinModesProps) {
  const choices = [
    ...(takesText ? [{ is: 'text', word: 'Text', help: 'Text with values' } as const] : []),
    { is: 'expression', word: 'fx', help: 'Expression. In the field of a value, type =' } as const,
  ]
  return choices.map(({ is, word, help }) => (
    <Tooltip key={is} label={mode === is ? 'Back to a value' : help}>
      <Button
        size="compact-xs"
        variant={mode === is ? 'light' : 'subtle'}
        color={mode === is ? 'petrol' : 'gray'}
        aria-label={`${is === 'text' ? 'Text with values' : 'fx: expression'} for ${pin}`}
        aria-pressed={mode === is}
        onClick={() => onChange(mode === is ? 'value' : is)}
      >
        {word}
      </Button>
    </Tooltip>
  ))
}
