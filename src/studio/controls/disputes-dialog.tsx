import { Button, Fieldset, Group, Modal, Stack, Text, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { type ShownText, shownAlone, shownDifference } from '../../shared/value-differences.ts'
import type { Dispute, DisputesQuestion, Whose } from '../api/save-changes.ts'
import { controlsTexts } from '../texts/shell.ts'

/** Drawers, dialogs and questions are below it. */
const ABOVE_QUESTIONS = 400

const noChoices: ReadonlyMap<string, Whose> = new Map()

/** Two people have changed the same. Nothing is chosen before one of them says what stays, and no key that was meant for a field chooses it. */
export function DisputesDialog({ question: { disputes, answer } }: { readonly question: DisputesQuestion }) {
  const cancel = () => answer(undefined)
  return (
    <Modal
      opened
      onClose={cancel}
      closeOnClickOutside={false}
      title={controlsTexts.changedMeanwhile}
      size="lg"
      zIndex={ABOVE_QUESTIONS}
    >
      <Ask disputes={disputes} onCancel={cancel} onChosen={answer} />
    </Modal>
  )
}

interface AskProps {
  readonly disputes: readonly Dispute[]
  readonly onCancel: () => void
  readonly onChosen: (choices: ReadonlyMap<string, Whose>) => void
}

function Ask({ disputes, onCancel, onChosen }: AskProps) {
  const [choices, setChoices] = useState(noChoices)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChosen(choices)
      }}
    >
      <Stack gap="md">
        <Text size="sm" tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
          {controlsTexts.changedMeanwhileText(disputes.length)}
        </Text>
        {disputes.map((one) => (
          <Choice
            key={one.at}
            dispute={one}
            whose={choices.get(one.at)}
            onChange={(whose) => setChoices((before) => new Map(before).set(one.at, whose))}
          />
        ))}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {controlsTexts.cancel}
          </Button>
          <Button type="submit" disabled={choices.size < disputes.length}>
            {controlsTexts.saveChoices}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ChoiceProps {
  readonly dispute: Dispute
  readonly whose: Whose | undefined
  readonly onChange: (whose: Whose) => void
}

function Choice({ dispute: { at, mine, theirs }, whose, onChange }: ChoiceProps) {
  const [isWhole, setWhole] = useState(false)
  const texts = { mine: textOf(mine), theirs: textOf(theirs) }
  const isPair = texts.mine !== '' && texts.theirs !== ''
  const [shownTheirs, shownMine] = isPair
    ? shownDifference(texts.theirs, texts.mine)
    : [shownAlone(texts.theirs), shownAlone(texts.mine)]
  const shown = { mine: shownMine, theirs: shownTheirs }
  return (
    <Stack gap={6}>
      <Fieldset legend={labelOf(at)}>
        <Stack gap="sm">
          {(['mine', 'theirs'] as const).map((one) => (
            <label key={one} style={{ display: 'flex', gap: 8, alignItems: 'baseline' }}>
              <input
                type="radio"
                name={at}
                checked={whose === one}
                aria-label={one === 'mine' ? controlsTexts.mine : controlsTexts.theirs}
                onChange={() => onChange(one)}
              />
              <Text size="sm" component="span" style={{ minWidth: 0, flex: 1 }}>
                <Text size="xs" c="dimmed" component="span" display="block">
                  {one === 'mine' ? controlsTexts.mine : controlsTexts.theirs}
                </Text>
                {isWhole ? <Whole text={texts[one]} /> : <Shown text={shown[one]} />}
              </Text>
            </label>
          ))}
        </Stack>
      </Fieldset>
      {shownMine.isCut || shownTheirs.isCut ? (
        <UnstyledButton
          fz="xs"
          td="underline"
          w="fit-content"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? controlsTexts.shorter : controlsTexts.wholeTexts}
        </UnstyledButton>
      ) : null}
    </Stack>
  )
}

function Shown({ text: { lead, differs, tail } }: { readonly text: ShownText }) {
  if (lead + differs + tail === '') return controlsTexts.empty
  return (
    <span style={{ overflowWrap: 'anywhere' }}>
      {lead}
      <b>{differs}</b>
      {tail}
    </span>
  )
}

function Whole({ text }: { readonly text: string }) {
  return (
    <span
      style={{
        display: 'block',
        maxHeight: '30vh',
        overflow: 'auto',
        whiteSpace: 'pre-wrap',
        overflowWrap: 'anywhere',
      }}
    >
      {text === '' ? controlsTexts.empty : text}
    </span>
  )
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
}

/** `validation_rules.max` → “Validation rules: max”. */
function labelOf(at: string): string {
  const text = at.replaceAll('_', ' ').replaceAll('.', ': ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
