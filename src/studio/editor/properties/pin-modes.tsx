import { Button, Tooltip } from '@mantine/core'
import { propertiesTexts } from '../../texts/properties.ts'
import type { PinMode } from '../expressions/convert-pin.ts'
import { loadCodeField } from '../expressions/field/code-field-loader.ts'

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
    ...(takesText
      ? [{ is: 'text', word: propertiesTexts.text, help: propertiesTexts.textWithValues } as const]
      : []),
    { is: 'expression', word: 'fx', help: propertiesTexts.expressionHelp } as const,
  ]
  return choices.map(({ is, word, help }) => (
    <Tooltip key={is} label={mode === is ? propertiesTexts.backToAValue : help}>
      <Button
        size="compact-xs"
        variant={mode === is ? 'light' : 'subtle'}
        color={mode === is ? 'petrol' : 'gray'}
        aria-label={propertiesTexts.modeFor(
          is === 'text' ? propertiesTexts.textWithValues : propertiesTexts.expression,
          pin,
        )}
        aria-pressed={mode === is}
        // It is there before the button is pressed.
        onPointerEnter={() => void loadCodeField().catch(() => undefined)}
        onFocus={() => void loadCodeField().catch(() => undefined)}
        onClick={() => onChange(mode === is ? 'value' : is)}
      >
        {word}
      </Button>
    </Tooltip>
  ))
}
