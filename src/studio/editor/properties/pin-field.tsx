import { useState } from 'react'
import type { InPin } from '../../../shared/api/blocks/blocks.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { canConvert, isNamedType, type PinType } from '../../../shared/pin-type.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import {
  isFilled,
  modeOf,
  type PinMode,
  textOfPin,
  withExpression,
  withoutExpression,
} from '../expressions/convert-pin.ts'
import { ExpressionPin } from '../expressions/expression-pin.tsx'
import { templateOf } from '../expressions/template-text.ts'
import { storageOfBlock } from '../gestures/inline-storage.ts'
import { setExpression, setLiteral } from '../model/changes/flow-changes.ts'
import { inPinOf } from '../model/flow.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { LiteralInput } from './literal-input.tsx'
import { NamedInput, StorageInput } from './named-input.tsx'
import { PinModes } from './pin-modes.tsx'
import { PinWires } from './pin-wires.tsx'
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
  readonly problem: string | undefined
}

/** Pins whose values are text, or may be. */
const takesText: ReadonlySet<PinType> = new Set(['value', 'any', 'date'])

/** Pins whose values are made only by blocks, but for names that a builder writes: of a storage, of fields, of a secret. */
const holdsNames: ReadonlySet<PinType> = new Set(['storage', 'sort', 'secret', 'http_connection'])

/** One in-pin: the wires that end there, or the value or expression that it holds. */
export function PinField({ guid, pin, kind, content, problem }: PinFieldProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const saved = inPinOf(content, pin)
  const wires = saved?.from ?? []
  // A condition on documents is an expression and nothing else; storage and sort pins hold names.
  const isWhere = kind.language === 'where'
  const holdsValue = (canConvert('any', kind.type) && !kind.perFrame) || holdsNames.has(kind.type)
  const takesExpression = canConvert('any', kind.type) && wires.length <= 1
  const [chosen, setChosen] = useState<PinMode>()
  const [cursor, setCursor] = useState<number>()
  const text = takesText.has(kind.type) ? textOfPin(saved, flow) : undefined
  const mode = isWhere ? 'expression' : modeOf(saved, chosen, text)
  // A field of the pin takes the keyboard itself.
  const hasField = wires.length === 0 && (holdsValue || mode !== 'value')
  const ref = useFieldFocus<HTMLDivElement>(hasField ? `${pin}:` : pin)
  const choose = (next: PinMode) => {
    setChosen(next)
    setCursor(undefined)
    const to = { block: guid, pin }
    if (next === 'value')
      editor.run(propertiesTexts.writeAsValue, (now) =>
        withoutExpression(now, catalogue, to, saved?.expression ?? ''),
      )
    else if (next === 'expression')
      editor.run(propertiesTexts.writeAsExpression, (now) => withExpression(now, to, saved))
    else if (text !== undefined && text !== '')
      editor.run(propertiesTexts.writeAsText, (now) => setExpression(now, guid, pin, templateOf(text)))
  }
  const set = (value: JsonValue | undefined) =>
    editor.run(propertiesTexts.set(pin), (now) => setLiteral(now, guid, pin, value), `set ${guid} ${pin}`)
  const literal = (
    <LiteralInput
      pin={pin}
      kind={kind}
      value={saved?.value}
      onChange={set}
      onExpression={(text, at) => {
        editor.run(
          propertiesTexts.set(pin),
          (now) => setExpression(now, guid, pin, text),
          `set ${guid} ${pin}`,
        )
        setChosen('expression')
        setCursor(at)
      }}
    />
  )
  const takesMore =
    (wires.length === 0 && !isNamedType(kind.type)) || kind.several === true || kind.type === 'flow'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings a frame and a legend of its own
    <div
      ref={ref}
      tabIndex={-1}
      role="group"
      aria-label={`${pin}, ${kind.type}${kind.required ? propertiesTexts.neededLabel : ''}`}
    >
      <div className={classes.pinHead}>
        <PinMark type={kind.type} full={isFilled(saved)} />
        {pin}
        {kind.required ? <RequiredMark /> : null}
        <span className={classes.pinType}>
          {kind.type}
          {kind.several ? propertiesTexts.several : ''}
        </span>
        <span className={classes.pinActions}>
          {takesExpression ? (
            <PinModes pin={pin} mode={mode} takesText={text !== undefined} onChange={choose} />
          ) : null}
          {takesMore && !isWhere ? <SourcePicker guid={guid} pin={pin} /> : null}
        </span>
      </div>
      <div className={classes.wires}>
        <PinWires guid={guid} pin={pin} type={kind.type} wires={wires} />
        {wires.length > 0 ? null : mode !== 'value' ? (
          <ExpressionPin
            guid={guid}
            pin={pin}
            saved={saved}
            mode={mode}
            type={kind.type}
            problem={problem}
            isNew={chosen !== undefined}
            cursor={cursor}
          />
        ) : isNamedType(kind.type) ? (
          <NamedInput pin={pin} type={kind.type} value={saved?.value} onChange={set} />
        ) : kind.type === 'storage' ? (
          <StorageInput pin={pin} value={saved?.value} onChange={set} />
        ) : holdsValue ? (
          kind.rows ? (
            <RowsOrJson
              name={pin}
              parts={kind.rows}
              value={saved?.value}
              storage={storageOfBlock(flow, content)}
              onChange={set}
              json={literal}
            />
          ) : (
            literal
          )
        ) : null}
        {problem === undefined || mode !== 'value' ? null : <ProblemNote message={problem} level="error" />}
        <p className={classes.help}>{kind.help}</p>
      </div>
    </div>
  )
}

function RequiredMark() {
  return (
    <span title={propertiesTexts.needed} style={{ color: 'var(--mantine-color-error)' }}>
      *
    </span>
  )
}
