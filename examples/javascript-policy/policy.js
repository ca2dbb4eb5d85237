// A policy of another author, in another language, for the same world: objects of the teams'
// namespaces say who owns them.
const RULE = {
  id: 'owner-label-missing',
  family: 'house',
  scope: 'state',
  severity: 'warning',
  since: '1.0.0',
  summary: 'nobody is named who owns the object',
  manual: `## What it does

Asks for the label \`example.com/owner\` on objects in namespaces that begin with \`team-\`.

## Example

\`\`\`yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: team-a}
\`\`\`

## Instead

\`\`\`yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: team-a, labels: {example.com/owner: ann}}
\`\`\`
`,
};

// jco and componentize-qjs throw the error side of a result.
const malformed = (message) => ({ tag: 'malformed', val: message });
const unsupported = (message) => ({ tag: 'unsupported', val: message });

function parse(what, text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(`${what}: ${error.message}`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw malformed(`${what}: expected an object`);
  }
  return value;
}

function settings(text) {
  if (text !== '' && Object.keys(parse('settings', text)).length) throw malformed('settings: there are none');
}

function check({ object, old, history, related, now, settings: text }) {
  settings(text);
  if (now !== undefined && Number.isNaN(Date.parse(now))) throw malformed(`now: ${now} is no time`);
  const { metadata = {} } = parse('object', object);
  for (const other of [...(old === undefined ? [] : [old]), ...history, ...related]) parse('other', other);
  const owned = !metadata?.namespace?.startsWith?.('team-') || metadata.labels?.['example.com/owner'];
  const findings = owned ? [] : [{
    rule: RULE.id,
    severity: RULE.severity,
    scope: RULE.scope,
    path: '/metadata',
    message: 'no label example.com/owner says who owns the object',
    related: [],
    help: 'set it to the name of whoever answers for the object',
  }];
  return { phase: 'unknown', reason: 'this policy does not judge phases', coherence: 'unknown', profiled: false, findings, repair: undefined };
}

function none(what, text) {
  const { kind } = parse(what, text);
  throw unsupported(`${what}: this policy does not judge ${kind}`);
}

export const evaluator = {
  check,
  decide: (pass, text) => { settings(text); none('pass', pass); },
  trace: (trace, text) => { settings(text); none('trace', trace); },
  rules: () => [RULE],
  profiles: (text) => { settings(text); return []; },
  validate(text) {
    try {
      settings(text);
      return [];
    } catch ({ val }) {
      return [{ origin: 'settings', path: '', message: val }];
    }
  },
  infer(samples) {
    samples.forEach((sample) => parse('sample', sample));
    throw unsupported('this policy has no profiles');
  },
  evaluateJson(text) {
    try {
      const request = parse('request', text);
      const [name, ...more] = Object.keys(request);
      if (name === undefined || more.length) throw malformed('request: expected one key');
      const given = parse(name, JSON.stringify(request[name]));
      const known = { check: ['object', 'old', 'history', 'related', 'now', 'settings'], decide: ['pass', 'settings'], trace: ['trace', 'settings'], rules: [], profiles: ['settings'], validate: ['settings'], infer: ['samples'] }[name];
      if (!known) throw unsupported(`request: no function ${name}`);
      for (const key of Object.keys(given)) if (!known.includes(key)) throw malformed(`request: ${name}: ${key} is no argument`);
      const inner = (value) => (value === undefined || value === null ? undefined : JSON.stringify(value));
      const list = (values) => (values ?? []).map((value) => JSON.stringify(value));
      const text_ = inner(given.settings) ?? '';
      const answers = {
        check: () => check({ object: inner(given.object) ?? '', old: inner(given.old), history: list(given.history), related: list(given.related), now: given.now ?? undefined, settings: text_ }),
        decide: () => evaluator.decide(inner(given.pass) ?? '', text_),
        trace: () => evaluator.trace(inner(given.trace) ?? '', text_),
        rules: () => evaluator.rules(),
        profiles: () => evaluator.profiles(text_),
        validate: () => evaluator.validate(text_),
        infer: () => evaluator.infer(list(given.samples)),
      };
      return JSON.stringify(answers[name]());
    } catch (fault) {
      if (fault.tag === undefined) throw fault;
      throw JSON.stringify({ fault: fault.tag, message: fault.val });
    }
  },
};
