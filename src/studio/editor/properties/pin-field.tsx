import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { InPin } from '../../../shared/api/blocks/blocks.ts'
import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { canConvert, isNamedType, type PinType } from '../../../shared/pin-type.ts'
import { cronLabels } from '../../controls/cron-labels.ts'
import { Icon } from '../../controls/icon.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import {
  modeOf,
  type PinMode,
  textOfPin,
  withExpression,
  withoutExpression,
} from '../expressions/convert-pin.ts'
import { ExpressionPin } from '../expressions/expression-pin.tsx'
import { loadCodeField } from '../expressions/field/code-field-loader.ts'
import { templateOf } from '../expressions/template-text.ts'
import { storageOf, storageOfBlock } from '../gestures/inline-storage.ts'
import { disconnect, setExpression, setLiteral } from '../model/changes/flow-changes.ts'
import { inPinOf, isFilled, type PinPlace } from '../model/flow.ts'
import type { Level } from '../model/fresh-blocks.ts'
import { hasField, pinsOf } from '../model/pins/pins.ts'
import { nameOf } from '../model/words/block-names.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { LiteralInput } from './literal-input.tsx'
import { NamedInput, StorageInput } from './named-input.tsx'
import { ProblemNote } from './problem-note.tsx'
import classes from './properties.module.css'
import { RowsOrJson } from './rows/rows-or-json.tsx'
import { SourcePicker } from './source-picker.tsx'
import { useFieldFocus } from './use-field-focus.ts'

interface PinFieldProps {
  readonly guid: string
  readonly pin: string
  readonly kind: InPin
  readonly content: BlockContent
  readonly problem: { readonly message: string; readonly level: Level } | undefined
}

/** Pins whose values are text, or may be. */
const takesText: ReadonlySet<PinType> = new Set(['value', 'any', 'date'])

/** One in-pin: the wires that end there, or the value or expression that it holds. */
export function PinField({ guid, pin, kind, content, problem }: PinFieldProps) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const saved = inPinOf(content, pin)
  const wires = saved?.from ?? []
  const text = takesText.has(kind.type) ? textOfPin(saved, flow) : undefined
  const writing = usePinWriting({ block: guid, pin }, saved, text)
  // A condition on documents is an expression and nothing else; storage and sort pins hold names.
  const isWhere = kind.language === 'where'
  const mode = isWhere ? 'expression' : modeOf(saved, writing.chosen, text)
  // A field of the pin takes the keyboard itself.
  const isWritten = wires.length === 0 && (hasField(kind) || mode !== 'value')
  const ref = useFieldFocus<HTMLDivElement>(isWritten ? `${pin}:` : pin)
  const takesExpression = canConvert('any', kind.type) && wires.length <= 1
  const takesMore =
    (wires.length === 0 && !isNamedType(kind.type)) || kind.several === true || kind.type === 'flow'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings a frame and a legend of its own
    <div
      ref={ref}
      tabIndex={-1}
      data-field={pin}
      role="group"
      aria-label={`${pin}, ${kind.type}${kind.required ? propertiesTexts.neededLabel : ''}`}
    >
      <PinHead pin={pin} kind={kind} full={isFilled(saved)}>
        {takesExpression ? (
          <PinModes pin={pin} mode={mode} takesText={text !== undefined} onChange={writing.choose} />
        ) : null}
        {takesMore && !isWhere ? <SourcePicker guid={guid} pin={pin} /> : null}
      </PinHead>
      <div className={classes.wires}>
        <PinWires guid={guid} pin={pin} type={kind.type} wires={wires} />
        {wires.length > 0 ? null : mode !== 'value' ? (
          <ExpressionPin
            guid={guid}
            pin={pin}
            saved={saved}
            mode={mode}
            type={kind.type}
            problem={problem?.level === 'error' ? problem.message : undefined}
            isNew={writing.chosen !== undefined}
            cursor={writing.cursor}
          />
        ) : (
          <HeldValue guid={guid} pin={pin} kind={kind} content={content} onExpression={writing.handOver} />
        )}
        {problem === undefined || mode !== 'value' ? null : <ProblemNote {...problem} />}
        {pin === 'cron' ? <CronWords cron={saved?.value} /> : null}
        <p className={classes.help}>{kind.help}</p>
      </div>
    </div>
  )
}

/** When the schedule runs; nothing while only its expression says it. */
function CronWords({ cron }: { readonly cron: JsonValue | undefined }) {
  const words = typeof cron === 'string' ? cronLabels(cron) : undefined
  return words === undefined ? null : (
    <p role="status" className={classes.help}>
      {words}
    </p>
  )
}

/** How the pin is written: what was chosen here, and where the cursor of an expression begins. */
function usePinWriting(to: PinPlace, saved: SavedInPin | undefined, text: string | undefined) {
  const editor = useEditor()
  const catalogue = useEditorState((state) => state.catalogue)
  const [chosen, setChosen] = useState<PinMode>()
  const [cursor, setCursor] = useState<number>()
  const { block, pin } = to
  const choose = (next: PinMode) => {
    setChosen(next)
    setCursor(undefined)
    if (next === 'value')
      editor.run(propertiesTexts.writeAsValue, (now) =>
        withoutExpression(now, catalogue, to, saved?.expression ?? ''),
      )
    else if (next === 'expression')
      editor.run(propertiesTexts.writeAsExpression, (now) => withExpression(now, to, saved))
    else if (text !== undefined && text !== '')
      editor.run(propertiesTexts.writeAsText, (now) => setExpression(now, block, pin, templateOf(text)))
  }
  /** A value became an expression while it was typed. */
  const handOver = (expression: string, at: number) => {
    editor.run(
      propertiesTexts.set(pin),
      (now) => setExpression(now, block, pin, expression),
      `set ${block} ${pin}`,
    )
    setChosen('expression')
    setCursor(at)
  }
  return { chosen, cursor, choose, handOver }
}

interface PinHeadProps extends Pick<PinFieldProps, 'pin' | 'kind'> {
  readonly full: boolean
  readonly children: ReactNode
}

function PinHead({ pin, kind, full, children }: PinHeadProps) {
  return (
    <div className={classes.pinHead}>
      <PinMark type={kind.type} full={full} />
      {pin}
      {kind.required ? <RequiredMark /> : null}
      <span className={classes.pinType}>
        {kind.type}
        {kind.several ? propertiesTexts.several : ''}
      </span>
      <span className={classes.pinActions}>{children}</span>
    </div>
  )
}

interface HeldValueProps extends Omit<PinFieldProps, 'problem'> {
  readonly onExpression: (text: string, cursor: number) => void
}

/** The field of a value, after its type; none for what only blocks make. */
function HeldValue({ guid, pin, kind, content, onExpression }: HeldValueProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const value = inPinOf(content, pin)?.value
  const set = (next: JsonValue | undefined) =>
    editor.run(propertiesTexts.set(pin), (now) => setLiteral(now, guid, pin, next), `set ${guid} ${pin}`)
  if (isNamedType(kind.type)) return <NamedInput pin={pin} type={kind.type} value={value} onChange={set} />
  if (kind.type === 'storage') return <StorageInput pin={pin} value={value} onChange={set} />
  if (!hasField(kind)) return null
  const literal = (
    <LiteralInput pin={pin} kind={kind} value={value} onChange={set} onExpression={onExpression} />
  )
  if (!kind.rows) return literal
  return (
    <RowsOrJson
      name={pin}
      parts={kind.rows}
      value={value}
      storage={storageOfBlock(flow, content)}
      onChange={set}
      json={literal}
    />
  )
}

function RequiredMark() {
  return (
    <span title={propertiesTexts.needed} style={{ color: 'var(--mantine-color-error)' }}>
      *
    </span>
  )
}

interface PinModesProps {
  readonly pin: string
  readonly mode: PinMode
  /** Whether text with values makes sense here. */
  readonly takesText: boolean
  readonly onChange: (mode: PinMode) => void
}

/** What a pin holds: a value, text with values or an expression. The pressed one leads back to a value. */
function PinModes({ pin, mode, takesText, onChange }: PinModesProps) {
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

interface PinWiresProps {
  readonly guid: string
  readonly pin: string
  readonly type: PinType
  readonly wires: readonly PinPlace[]
}

/** The wires that end at a pin: where each comes from, and a button that removes it. */
function PinWires({ guid, pin, type, wires }: PinWiresProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  return wires.map((end) => {
    const source = flow.get(end.block)
    const out = source && pinsOf(source, catalogue).out.get(end.pin)
    const name = source ? nameOf(source, catalogue) : propertiesTexts.aRemovedBlock
    return (
      <div key={`${end.block} ${end.pin}`} className={classes.wire}>
        {out ? <PinMark type={out.type} size={10} /> : null}
        <button
          type="button"
          className={classes.wireName}
          title={propertiesTexts.goTo(name)}
          onClick={() => editor.focusPin(end.block, '')}
        >
          {name} · {end.pin}
        </button>
        {type === 'storage' && storageOf(flow, end.block) !== undefined ? (
          <Tooltip label={propertiesTexts.storageHere}>
            <ActionIcon
              size="xs"
              variant="subtle"
              color="gray"
              aria-label={propertiesTexts.storageHereFor(pin)}
              onClick={() =>
                editor.run(propertiesTexts.chooseStorage, (now) =>
                  setLiteral(now, guid, pin, storageOf(now, end.block)),
                )
              }
            >
              <Icon name="edit" size={11} />
            </ActionIcon>
          </Tooltip>
        ) : null}
        <Tooltip label={propertiesTexts.removeWire}>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={propertiesTexts.removeWireFrom(name, end.pin)}
            onClick={() =>
              editor.run(propertiesTexts.removeWire, (now) =>
                disconnect(now, { from: end, to: { block: guid, pin } }),
              )
            }
          >
            <Icon name="close" size={11} />
          </ActionIcon>
        </Tooltip>
      </div>
    )
  })
}
