import { ActionIcon, Button, Group, Text, Textarea, TextInput, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FocusEvent, useMemo } from 'react'
import type { JsonObject } from '../../../shared/json.ts'
import { canExpand, RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { Icon } from '../../controls/icon.tsx'
import { Time } from '../../controls/time.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { FigureAction } from '../figures/figure-dialog.tsx'
import { figureTypes } from '../figures/page-figure.ts'
import { setField } from '../model/changes/flow-changes.ts'
import { changeBlock } from '../model/flow.ts'
import { problemsOf } from '../model/fresh-blocks.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { subjectOf } from '../model/words/block-names.ts'
import { hasCallers } from '../model/words/open-to.ts'
import { runQuery } from '../runs/run-queries.ts'
import { StepValues } from '../runs/step-values.tsx'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import type { Editor } from '../state/editor.ts'
import { copySelected, drawResource, duplicateSelected, removeSelected } from '../state/editor-commands.ts'
import { useChecks, useEditor, useEditorState } from '../state/editor-context.ts'
import { goToStep, showRun } from '../state/shown-run.ts'
import { lastWords } from '../values/last-values.ts'
import { useLastValues } from '../values/use-last-values.ts'
import { CustomPins } from './custom-pins.tsx'
import { LazyInput } from './lazy-input.tsx'
import { NameField } from './name-field.tsx'
import { OutPins } from './out-pins.tsx'
import { PageLink } from './page-link.tsx'
import { PinField } from './pin-field.tsx'
import { ProblemNote } from './problem-note.tsx'
import classes from './properties.module.css'
import { ScopesField } from './scopes-field.tsx'
import { SettingField } from './setting-field.tsx'

const words = {
  created: propertiesTexts.added,
  updated: propertiesTexts.changed,
  removed: propertiesTexts.removed,
}

/** Who changed the block and has not saved it yet. */
function StagingNote({ guid }: { readonly guid: string }) {
  const staging = useEditorState(({ known }) => known.get(guid)?.staging)
  if (!staging) return null
  const time = new Date(staging.at * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  return (
    <Text size="xs" c="light-dark(#87581f, #dcb475)">
      {propertiesTexts.stagedBy(words[staging.change], staging.by.username, time)}
    </Text>
  )
}

/** Settings of these kinds make pins or say what the block is about, so they come first. */
const shapesBlock = new Set(['names', 'storage'])

/** Everything about one block, drawn from its definition. */
export function BlockForm({ guid }: { readonly guid: string }) {
  const editor = useEditor()
  const content = useEditorState(({ drawing }) => drawing.flow.get(guid))
  const catalogue = useEditorState((state) => state.catalogue)
  const checked = useChecks()
  const problems = useMemo(() => problemsOf(checked, guid), [checked, guid])
  if (!content) return null
  const description = catalogue.get(content.type)
  const pins = pinsOf(content, catalogue)
  const at = (pin: string) => problems.find((one) => one.pin === pin)
  const elsewhere = problems.filter(
    ({ pin }) => pin === undefined || !(pins.in.has(pin) || (description && pin in description.settings)),
  )
  const change = (label: string, patch: Parameters<typeof changeBlock>[2]) =>
    editor.run(label, (flow) => changeBlock(flow, guid, patch), `${label} ${guid}`)
  const settings = Object.entries(description?.settings ?? {})
  const main = settings.filter(([, setting]) => setting.required || shapesBlock.has(setting.kind))
  const rest = settings.filter((one) => !main.includes(one))
  const fields = (list: typeof settings) =>
    list.map(([name, setting]) => (
      <div key={name} data-field={name}>
        <SettingField
          guid={guid}
          name={name}
          setting={setting}
          value={content.fields[name]}
          problem={at(name)?.level === 'error' ? at(name)?.message : undefined}
        />
      </div>
    ))
  return (
    <section
      className={classes.panel}
      aria-label={propertiesTexts.properties}
      onBlur={(event) => leaveField(editor, guid, event)}
    >
      <div className={classes.head}>
        <Group gap={4} wrap="nowrap" justify="space-between">
          <Text fw={650}>{description?.title ?? propertiesTexts.unknownBlock}</Text>
          <Group gap={2} wrap="nowrap">
            {description?.kind === 'flow' ? <BreakpointSwitch guid={guid} /> : null}
            <Tooltip label={propertiesTexts.copy}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={propertiesTexts.copyBlock}
                onClick={() => void copySelected(editor)}
              >
                <Icon name="copy" size={15} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label={propertiesTexts.duplicate}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={propertiesTexts.duplicateBlock}
                onClick={() => duplicateSelected(editor)}
              >
                <Icon name="plus" size={16} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label={propertiesTexts.remove}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={propertiesTexts.removeBlock}
                onClick={() => removeSelected(editor)}
              >
                <Icon name="trash" size={16} />
              </ActionIcon>
            </Tooltip>
          </Group>
        </Group>
        <p className={classes.help}>{description?.summary ?? propertiesTexts.unknownType(content.type)}</p>
        {content.type === RESOURCE_TYPE ? <ResourceAction guid={guid} /> : null}
        {figureTypes.has(content.type) ? <FigureAction guid={guid} /> : null}
        {content.type === 'state_page' ? <PageLink block={guid} content={content} /> : null}
        <StagingNote guid={guid} />
        {elsewhere.map((one) => (
          <ProblemNote key={one.message} {...one} />
        ))}
        <UnknownSettings guid={guid} fields={content.fields} />
      </div>
      <LazyInput
        value={content.title}
        onCommit={(title) => change(propertiesTexts.changeTitle, { title })}
        render={(props) => (
          <TextInput
            {...props}
            size="xs"
            label={propertiesTexts.title}
            placeholder={subjectOf(content) || description?.title || ''}
            maxLength={200}
          />
        )}
      />
      <NameField guid={guid} onChange={(name) => change(propertiesTexts.rename, { name })} />
      {main.length === 0 ? null : <div className={classes.section}>{fields(main)}</div>}
      {pins.in.size === 0 ? null : (
        <div className={classes.section}>
          <h2 className={classes.sectionTitle}>{propertiesTexts.in}</h2>
          {[...pins.in].map(([pin, kind]) => (
            <PinField key={pin} guid={guid} pin={pin} kind={kind} content={content} problem={at(pin)} />
          ))}
        </div>
      )}
      {hasCallers(content, catalogue) ? (
        <ScopesField
          on={entranceOf(description?.on)}
          scopes={content.scopes}
          onChange={(scopes) =>
            change(
              description?.on === 'page'
                ? propertiesTexts.changeWhoMayOpen
                : propertiesTexts.changeWhoMayCall,
              { scopes },
            )
          }
        />
      ) : null}
      {description?.adds.custom_out ? <CustomPins guid={guid} pins={content.custom_out_pins} /> : null}
      <OutPins guid={guid} pins={pins.out} />
      <LastBlockValues guid={guid} />
      {rest.length === 0 ? null : (
        <div className={classes.section}>
          <h2 className={classes.sectionTitle}>{propertiesTexts.settings}</h2>
          {fields(rest)}
        </div>
      )}
      <div className={classes.section}>
        <LazyInput
          value={content.description}
          onCommit={(text) => change(propertiesTexts.comment, { description: text })}
          render={(props) => (
            <Textarea
              {...props}
              size="xs"
              label={propertiesTexts.comment}
              placeholder={propertiesTexts.comment}
              autosize
              minRows={2}
              maxRows={8}
              maxLength={10_000}
            />
          )}
        />
      </div>
    </section>
  )
}

function entranceOf(on: string | null | undefined): 'page' | 'function' | 'http' {
  return on === 'page' || on === 'function' ? on : 'http'
}

/** The keyboard goes from a field to another place than its own buttons and lists. */
function leaveField(editor: Editor, guid: string, { target, relatedTarget }: FocusEvent): void {
  const field = target.closest<HTMLElement>('[data-field]')
  const isInside = relatedTarget instanceof Node && field?.contains(relatedTarget)
  if (field?.dataset.field !== undefined && !isInside) editor.leaveField(guid, field.dataset.field)
}

/** Blocks may have some from before the server refused them; a block with one cannot be deployed. */
function UnknownSettings({ guid, fields }: { readonly guid: string; readonly fields: JsonObject }) {
  const editor = useEditor()
  const catalogue = useEditorState((state) => state.catalogue)
  const settings = useEditorState(
    ({ drawing }) => catalogue.get(drawing.flow.get(guid)?.type ?? '')?.settings,
  )
  if (!settings) return null
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(settings, name))
  return unknown.map((name) => {
    const label = propertiesTexts.removeSetting(name)
    const remove = () => editor.run(label, (flow) => setField(flow, catalogue, guid, name, undefined))
    return (
      <Button key={name} size="compact-xs" variant="default" onClick={remove}>
        {label}
      </Button>
    )
  })
}

/** Whether runs pause before the block. */
function BreakpointSwitch({ guid }: { readonly guid: string }) {
  const breakpoints = useBreakpoints()
  const isSet = breakpoints.at.has(guid)
  return (
    <Tooltip label={isSet ? propertiesTexts.removeBreakpoint : propertiesTexts.setBreakpoint}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={propertiesTexts.breakpoint}
        aria-pressed={isSet}
        onClick={() => breakpoints.toggle(guid)}
      >
        <span className={classes.breakpoint} data-set={isSet || undefined} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Draws the flows of a resource in its place, for a builder who wants to change them. */
function ResourceAction({ guid }: { readonly guid: string }) {
  const editor = useEditor()
  const content = useEditorState(({ drawing }) => drawing.flow.get(guid))
  return (
    <Button
      size="xs"
      variant="default"
      mt="xs"
      leftSection={<Icon name="blueprint" size={15} />}
      disabled={!content || !canExpand(content)}
      onClick={() => void drawResource(editor, guid)}
    >
      {propertiesTexts.asBlocks}
    </Button>
  )
}

/** The values of a block in the last run that passed it, whole; nothing while a run is shown, whose steps have them. */
function LastBlockValues({ guid }: { readonly guid: string }) {
  const editor = useEditor()
  const isRunShown = useEditorState((state) => state.shownRun !== undefined)
  const last = useLastValues().get(guid)
  const { data: run } = useQuery({
    ...runQuery(last?.run.guid ?? ''),
    enabled: last !== undefined && !isRunShown,
  })
  if (!last || isRunShown) return null
  const step = run?.steps[last.step.at]
  return (
    <section className={classes.section} aria-label={propertiesTexts.lastValues}>
      <h2 className={classes.sectionTitle}>{propertiesTexts.lastValues}</h2>
      <p className={classes.help}>
        {lastWords[last.run.recorded_as]}, <Time at={Date.parse(last.run.started) / 1_000} />
        {last.isChanged ? propertiesTexts.changedSinceThen : ''}{' '}
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => {
            showRun(editor, last.run.guid)
            goToStep(editor, last.step.at)
          }}
        >
          {propertiesTexts.showTheRun}
        </Button>
      </p>
      {step ? <StepValues step={step} /> : null}
    </section>
  )
}
