import { describe, expect, it, test } from 'vitest';
import type { Json } from '../../../json/value.ts';
import { untilReady } from '../../scope.ts';
import { call } from '../call.testing.ts';
import { exampleCertificate, exampleRequest } from './example.ts';

const ellipticCertificate = `-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUNRc82O7k34USTw0JPcr9dg5k1HQwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCZWMwHhcNMjYxMTE2MDM1NzM5WhcNMjcxMTE2MDM1NzM5WjAN
MQswCQYDVQQDDAJlYzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIruPGHSSyZE
93DGkIUccd8M5uMpih820Nl1ISSUnUexR8RCOCrUXsZ/iM72x95P5f11N/ZwAtY2
kSJdUMLi83mjUzBRMB0GA1UdDgQWBBSmR5zaoJx5BYgZDNXG+Sbf5DbAeDAfBgNV
HSMEGDAWgBSmR5zaoJx5BYgZDNXG+Sbf5DbAeDAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQDK7JvqPtUoDvel0bcq/vs0PhmkreTGYUa9kvHBhG9F
0wIhALWqgK9bxbDhjXe0+B90RX3vAyc3xH8evhNfkRJzear1
-----END CERTIFICATE-----
`;

const modulus =
  '156149842665975614304723335088192434267415858818184530213993710056097829570139608041190513758361580339261539854897868648584824700391875003868664053864027463420080279920133066471888592657863522523873773246459749522642634072874989169572958894109860943944471465102150939123755397698020729253576637956202064880939';

function decode(pem: string): Promise<Json> {
  return untilReady(() => call('x509_decode', [pem]));
}

describe('x509_decode', () => {
  it('shows a certificate as Go does', async () => {
    const name = {
      Country: ['US'],
      Organization: ['Acme'],
      OrganizationalUnit: ['Eng'],
      Locality: null,
      Province: ['CA'],
      StreetAddress: null,
      PostalCode: null,
      SerialNumber: '',
      CommonName: 'example.com',
      Names: [
        { Type: [2, 5, 4, 6], Value: 'US' },
        { Type: [2, 5, 4, 8], Value: 'CA' },
        { Type: [2, 5, 4, 11], Value: 'Eng' },
        { Type: [2, 5, 4, 10], Value: 'Acme' },
        { Type: [2, 5, 4, 3], Value: 'example.com' },
      ],
      ExtraNames: null,
    };
    const certificate = await decode(exampleCertificate);
    expect(certificate).toMatchObject({
      Version: 3,
      SerialNumber: 6.042337078511241e47,
      Issuer: name,
      Subject: name,
      NotBefore: '2026-11-16T03:36:28Z',
      NotAfter: '2027-11-16T03:36:28Z',
      KeyUsage: 33,
      ExtKeyUsage: [1, 2],
      UnknownExtKeyUsage: null,
      BasicConstraintsValid: true,
      IsCA: true,
      MaxPathLen: -1,
      MaxPathLenZero: false,
      SubjectKeyId: 'nMGctW9gM86goHlV7dKDnrH3jrE=',
      AuthorityKeyId: 'nMGctW9gM86goHlV7dKDnrH3jrE=',
      DNSNames: ['example.com', '*.example.com'],
      EmailAddresses: ['a@b.c'],
      IPAddresses: ['10.0.0.1', '::1'],
      PublicKey: { N: modulus, E: 65537 },
      PublicKeyAlgorithm: 1,
      SignatureAlgorithm: 4,
      UnhandledCriticalExtensions: null,
    });
    expect(certificate).toHaveProperty('URIs.0.Host', 'x.y');
    expect(certificate).toHaveProperty('Extensions.4', {
      Id: [2, 5, 29, 15],
      Critical: true,
      Value: 'AwIChA==',
    });
    expect(certificate).toHaveProperty('Raw', exampleCertificate.replace(/-----.*-----|\n/g, ''));
    expect(Object.keys(certificate as object)).toHaveLength(52);
  });

  it('shows a certificate request', async () => {
    expect(await decode(exampleRequest)).toMatchObject({
      Version: 0,
      Subject: { CommonName: 'csr.example.com', Country: ['US'], Organization: null },
      PublicKey: { N: modulus, E: 65537 },
      SignatureAlgorithm: 4,
      DNSNames: ['csr.example.com'],
      IPAddresses: null,
      Extensions: [{ Id: [2, 5, 29, 17], Critical: false, Value: 'MBGCD2Nzci5leGFtcGxlLmNvbQ==' }],
      Attributes: [
        {
          Type: [1, 2, 840, 113549, 1, 9, 14],
          Value: [[{ Type: [2, 5, 29, 17], Value: 'MBGCD2Nzci5leGFtcGxlLmNvbQ==' }]],
        },
      ],
    });
  });

  test.each([
    ['nothing', 'failed to decode PEM block'],
    [
      '-----BEGIN X-----\naGk=\n-----END X-----',
      'PEM block neither contains a CERTIFICATE or CERTIFICATE REQUEST',
    ],
    ['-----BEGIN CERTIFICATE-----\naGk=\n-----END CERTIFICATE-----', 'x509: malformed certificate'],
    ['-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----', 'x509: malformed certificate'],
    ['-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----', 'illegal base64 data'],
    [ellipticCertificate, 'certificate should use rsa algorithm'],
  ])('refuses %j', async (text, message) => {
    await expect(decode(text)).rejects.toThrow(`JMESPath function 'x509_decode': ${message}`);
  });
});
