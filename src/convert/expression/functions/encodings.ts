import { call, onlyMutatingPolicy, type Translate } from './arguments.ts';

/** Functions of encoded data, hashes and random text. Only Kyverno has them. */
export const encodingFunctions: Readonly<Record<string, Translate>> = {
  base64_decode: (args) => {
    onlyMutatingPolicy(args, 'base64_decode');
    const value = args.of(0, 'string');
    return call(`string(base64.decode(${value.source}))`, 'string', [{ ...value, total: false }]);
  },
  base64_encode: (args) => {
    onlyMutatingPolicy(args, 'base64_encode');
    const value = args.of(0, 'string');
    return call(`base64.encode(bytes(${value.source}))`, 'string', [value]);
  },
  sha256: hash('sha256'),
  sha1: hash('sha1'),
  md5: hash('md5'),
  x509_decode: (args) => {
    onlyMutatingPolicy(args, 'x509_decode');
    const value = args.of(0, 'string');
    return call(`x509.decode(${value.source})`, 'dyn', [{ ...value, total: false }]);
  },
  random: (args) => {
    onlyMutatingPolicy(args, 'random');
    const value = args.of(0, 'string');
    return call(`random(${value.source})`, 'string', [{ ...value, total: false }]);
  },
  parse_yaml: (args) => {
    onlyMutatingPolicy(args, 'parse_yaml');
    const value = args.of(0, 'string');
    return call(`yaml.parse(${value.source})`, 'dyn', [{ ...value, total: false }]);
  },
  parse_json: (args) => {
    onlyMutatingPolicy(args, 'parse_json');
    const value = args.of(0, 'string');
    return call(`json.unmarshal(${value.source})`, 'dyn', [{ ...value, total: false }]);
  },
};

function hash(name: string): Translate {
  return (args) => {
    onlyMutatingPolicy(args, name);
    const value = args.of(0, 'string');
    return call(`${name}(${value.source})`, 'string', [value]);
  };
}
