import { parseDuration } from '../../expression/duration.ts';
import { compileExpression } from '../../expression/expression.ts';
import { ExpressionSyntaxError } from '../../expression/jmespath/syntax-error.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, type JsonObject, member } from '../../json/value.ts';

/** All problems of a GlobalContextEntry, each with its path. */
export function globalContextProblems(object: JsonObject): readonly string[] {
  const problems: string[] = [];
  const report = (place: string, message: string) => problems.push(`/spec${place}: ${message}`);
  const spec = readObject(object, 'spec') ?? {};
  const resource = readObject(spec, 'kubernetesResource');
  const apiCall = readObject(spec, 'apiCall');
  if ((resource === undefined) === (apiCall === undefined)) {
    const found = resource === undefined ? 'none' : 'both';
    report('', `the data comes from exactly one of kubernetesResource and apiCall; found ${found}`);
  }
  if (resource !== undefined) checkResource(resource, report);
  if (apiCall !== undefined) checkCall(apiCall, report);
  const name = readText(readObject(object, 'metadata') ?? {}, 'name') ?? '';
  checkProjections(readObjects(spec, 'projections'), name, report);
  return problems;
}

type Report = (place: string, message: string) => void;

function checkResource(resource: JsonObject, report: Report): void {
  const text = (field: string) => readText(resource, field) ?? '';
  for (const field of ['version', 'resource'])
    if (text(field) === '') report(`/kubernetesResource/${field}`, 'it is missing');
  if (text('group') === '' && text('version') !== '' && text('version') !== 'v1')
    report('/kubernetesResource/group', `the core group has no version ${text('version')}: name the group`);
  if (text('resource') !== text('resource').toLowerCase())
    report('/kubernetesResource/resource', 'it is the plural in lower case, such as deployments');
}

function checkCall(apiCall: JsonObject, report: Report): void {
  const urlPath = readText(apiCall, 'urlPath') ?? '';
  const service = readObject(apiCall, 'service');
  if ((urlPath === '') === (service === undefined)) {
    const found = service === undefined ? 'none' : 'both';
    report('/apiCall', `it has exactly one of urlPath and service; found ${found}`);
  }
  if (urlPath !== '' && !urlPath.startsWith('/')) report('/apiCall/urlPath', 'it begins with /');
  if (service !== undefined && !URL.canParse(readText(service, 'url') ?? ''))
    report('/apiCall/service/url', 'it is no URL');
  const data = member(apiCall, 'data');
  if (isArray(data) && data.length > 0 && readText(apiCall, 'method') !== 'POST')
    report('/apiCall/method', 'data is sent by POST only');
  const written = readText(apiCall, 'refreshInterval');
  const interval = written === undefined ? undefined : parseDuration(written);
  if (written !== undefined && (interval === undefined || interval <= 0n))
    report('/apiCall/refreshInterval', 'it is a duration above zero, such as 10m');
  checkExpression(readText(apiCall, 'jmesPath'), '/apiCall/jmesPath', report);
}

function checkProjections(projections: readonly JsonObject[], entry: string, report: Report): void {
  const names = projections.map((projection) => readText(projection, 'name') ?? '');
  projections.forEach((projection, index) => {
    const place = `/projections/${index}`;
    const name = names[index] ?? '';
    if (name === '') report(`${place}/name`, 'it is missing');
    else if (name === entry) report(`${place}/name`, 'it is the name of the entry itself');
    else if (names.indexOf(name) !== index) report(`${place}/name`, `there are several called ${name}`);
    const expression = readText(projection, 'jmesPath') ?? '';
    if (expression === '') report(`${place}/jmesPath`, 'it is missing');
    else checkExpression(expression, `${place}/jmesPath`, report);
  });
}

function checkExpression(text: string | undefined, place: string, report: Report): void {
  if (text === undefined || text === '') return;
  try {
    compileExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    report(place, `the expression does not parse: ${error.message} (at character ${error.position + 1})`);
  }
}
